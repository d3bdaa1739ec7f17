// Package certificates proves on the embedded cluster how ClusterExtensions get along with products that make serving certificates:
// cert-manager and the service-ca operator of OpenShift. Stand-ins do what those do, with CustomResourceDefinitions of the tests' own. It holds
// tests only; test/e2e/README.md says which scenario is where.
//
// Start reading at TestProducts, then standin (standin_test.go).
package certificates
