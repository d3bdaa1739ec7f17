// Package rotation keeps the serving certificate of a server of our own: in a Secret that all replicas share, renewed before it expires, and
// trusted before it is served. The package server and the manager's own HTTPS servers use it.
//
// A certificate that cannot be used, whatever became of its Secret, is replaced. Clients get the CA bundle of a renewed certificate some time
// before the certificate is served, so no request fails. When a certificate is renewed is read from the certificate, never from a note about it.
//
// Start reading at store.go; decide.go is the pure decision, keeper.go the loop of servers whose CA bundle is in a ConfigMap.
package rotation
