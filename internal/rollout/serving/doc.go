// Package serving is everything about serving certificates: of the webhooks and aggregated APIs of operators under both APIs, and of our own servers.
//
// Every certificate has an authority of its own, whose key is thrown away as soon as the certificate is signed: nothing else can be signed with it.
// A renewed certificate comes with a new authority, and the authority before it stays in the CA bundle until it expires.
//
// What to do next is decided by State.Next, which is pure: what the Secret holds, since when clients trust it, and the time go in; a Step comes out.
//
//	certificate in use    staged certificate                    step
//	cannot be used        trusted                               Promote
//	cannot be used        none, or not trusted                  Issue
//	can be used           not trusted by every client           Publish
//	can be used           trusted for less than the delay       Keep
//	can be used           trusted for the delay                 Promote
//	due for renewal       none                                  Stage
//	good                  none                                  Keep
//
// So a certificate is trusted before it is served. Everything is in the Secret, so a manager that was killed in between continues there. Too many
// issues within a short time are Limited: another client fights for the Secret. Whether a certificate is due is read from the certificate itself.
//
// Clients of the package carry the steps out: the controllers of ClusterServiceVersions and ClusterExtensions theirs, and Store those of our own
// servers, whose replicas share a Secret; Keeper is a Store whose CA bundle is in a ConfigMap.
//
// The package never writes to a Secret that its client has not judged. Start reading at state.go; certificate.go checks certificates, issue.go
// makes them, inject.go finds their clients among objects, server.go is about our own servers.
package serving
