// Package installplan proves on the embedded cluster that plans are carried out whole when the API server comes and goes. It holds tests
// only; the scenarios of plans on a server that stays are in internal/manager. test/e2e/README.md says which scenario is where.
//
// Start reading at TestAPIServerComesAndGoes.
package installplan
