// Package telemetry is what the manager tells of itself over HTTP: metrics, that it is alive, and profiles. Unless it is
// asked for plain HTTP it speaks TLS, serves metrics to those whom the API server allows to read them, and profiles to clients with a certificate.
// It knows no controllers. Start reading at Open.
package telemetry
