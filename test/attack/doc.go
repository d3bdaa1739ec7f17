// Package attack holds attacks on the manager. Each test takes the role of one user: a user with edit rights in one namespace, an account that
// an OperatorGroup confines, the author of a hostile catalog or bundle. The manager runs with the rights of the shipped manifests and no others.
//
// world_test.go has the cluster and its users; every other file is one attack, named after what it goes for. docs/security.md names the test
// of each boundary.
package attack
