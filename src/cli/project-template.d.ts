/** The files of `template/`, put in by the package's build (`scripts/project-template.ts`). */
declare module "holdline:project-template" {
  /** Texts by their paths in the folder. */
  export const files: Readonly<Record<string, string>>;
}
