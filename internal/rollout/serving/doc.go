// Package serving makes and judges the serving certificates of webhooks and aggregated APIs.
//
// Every serving certificate has an authority of its own, whose key is thrown away as soon as the certificate is
// signed: nobody can sign another one with it. A renewed certificate comes with a new authority, and the old
// authority stays in the list of trusted ones until it expires, so that servers that have not yet picked up the new
// certificate are still believed.
//
// Whether a certificate is due for renewal is read from the certificate itself, never from a note about it. The
// package never talks to a cluster and never reads a clock: the caller passes the time.
//
// Start reading at serving.go; issue.go makes certificates, check.go judges them.
package serving
