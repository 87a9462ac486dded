/** The built page, put in by the package's build (`scripts/console-page.ts`). */
declare module "holdline:console-page" {
  /** The page's program: one ES module. */
  export const script: string;
  /** Its hash as a Content-Security-Policy source: `sha256-…`. */
  export const scriptHash: string;
  export const style: string;
  export const styleHash: string;
}
