// Package claims judges whose an object is that an InstallPlan meets: it may belong to another owner, be shared by operators of several namespaces, or be of
// none. It decides for the controller of InstallPlans and for those who tell before what a plan would do, and writes nothing.
//
// A Claimant judges objects of any kind by their owners. Definitions judge CustomResourceDefinitions: who has a say in an upgrade, whether the plan may
// replace the definition, and which rules of internal/rollout/crd it has to keep. Start reading at Definitions.Change; operators.go reads the operators
// that there are.
package claims
