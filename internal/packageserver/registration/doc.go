// Package registration makes the API server find the package server, and forget it in time: the serving certificate and its Secret, the
// Service with the address of this process behind it, the APIService, and the role by which those who may read a namespace may read packages.
//
// An APIService whose server does not answer makes discovery fail everywhere, and namespaces cannot be deleted any more. So it is there only
// while somebody serves: it is applied after the server listens, and withdrawn before it stops. When certificates are renewed is
// read from the certificate that is shown, never from a note about it; the API server trusts a new one before it is shown.
//
// The package never serves anything itself. Start reading at Registration.Run (run.go); objects.go is what it keeps in the cluster,
// withdraw.go is the way back. The certificate itself is internal/rollout/serving's.
package registration
