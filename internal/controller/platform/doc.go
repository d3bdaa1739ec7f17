// Package platform reports to an OpenShift cluster whether it may be upgraded to its next minor version with the operators that are installed.
//
//   - It observes ClusterServiceVersions, ClusterObjectSets, and the ClusterVersion and the ClusterOperator olm of config.openshift.io.
//   - It decides nothing itself: the judgement is internal/platform.
//   - It writes the condition Upgradeable of the ClusterOperator olm, and nothing else.
//   - It sets the reasons OperatorsCompatible, IncompatibleOperatorsInstalled and ErrorCheckingOperatorCompatibility.
//
// On clusters without these kinds of config.openshift.io it watches nothing of them and does nothing; it begins when their CustomResourceDefinitions
// appear. Start reading at controller.go, then setup.go and condition.go.
//
// In every manager, whether it leads or not, SetupTLS (tlssetup.go) follows spec.tlsSecurityProfile of the APIServer of config.openshift.io: it sets the
// profile that the servers and clients of the manager share, and writes nothing.
package platform
