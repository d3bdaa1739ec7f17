// Package telemetry is what the manager tells of itself over HTTP: metrics, that it is alive, and profiles. With a certificate it speaks
// TLS, lets only those read metrics whom the API server lets, and shows profiles only to who has a certificate of the clients' authority.
// It knows no controllers. Start reading at Open.
package telemetry
