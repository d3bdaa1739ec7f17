// Package registration makes the API server find the package server, and forget it in time: the serving certificate and its Secret, the
// Service with the address of this process behind it, the APIService, and the role by which those who may read a namespace may read packages.
//
// An APIService whose server does not answer makes discovery fail everywhere, and namespaces cannot be deleted any more. So it is there only
// while a process serves: it is applied after the server listens, and withdrawn before it stops.
//
// The package never serves anything itself. Start reading at Registration.Run (run.go); objects.go is what it keeps in the cluster,
// withdraw.go is the way back. Store in internal/rollout/serving renews the certificate.
package registration
