// Package preview tells what the controllers would decide for a namespace and for ClusterExtensions, without a cluster or without touching
// it: what would be installed, why, why something else would not be, and how far behind each operator is.
//
// It puts together what there is, from the objects of a cluster, from files and from what a user says in short, reads the catalogs, and
// lets internal/resolution/snapshot and internal/resolution decide as the Subscription controller does, and internal/resolution on ClusterExtensions. It
// decides nothing by itself and never writes to a cluster.
//
// Start reading at Question.Decide, and at Question.Extend for one ClusterExtension in short. What is said in short is in request.go and
// extensionrequest.go, what files say in objects.go; the answers are in resolution.go, extension.go, outdated.go, why.go and whynot.go, and
// how they are printed in the files beside them that end in text.go.
//
// Search, About and VersionsOf report what catalogs offer (browse.go): a package is described in the same way wherever it is from, an
// index or the PackageManifest API. Asked.LookUp (lookup.go) finds what an install asks for, or what is nearest to it. ViewPlan (planview.go)
// shows an InstallPlan: its steps by operator, their sources and their state.
//
// Planner.Plan (extensionplanner.go) reports what would change in the cluster if a ClusterExtension was brought up to date now: objects,
// permissions, images, and what is in the way. It decides with desired.Next, as the controller does, renders and checks with the same code.
// What would be written is compared with the objects of the installed revision, as it keeps them; the manager corrects drift anyway.
//
// Planner.Subscription and Planner.Open (arrivals.go, arrivalsopen.go) report the same of the next InstallPlan of a Subscription, compared with what the
// cluster has: arrivalcrds.go judges CustomResourceDefinitions with internal/rollout/claims, as the controller does, and arrivalrights.go what the account of the OperatorGroup lacks.
package preview
