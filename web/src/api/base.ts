// Where the API is, from where the page is: <prefix>/, <prefix>/dashboard and <prefix>/index.html all mean <prefix>/api/v1.
export function apiBase(pathname: string): string {
  const prefix = pathname.replace(/(dashboard\/?|index\.html)$/, '').replace(/\/*$/, '/')
  return `${prefix}api/v1`
}
