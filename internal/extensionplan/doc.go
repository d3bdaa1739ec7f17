// Package extensionplan tells what would change in the cluster if a ClusterExtension was brought up to date now: which objects are added,
// changed and removed, which permissions and images come and go, and what is in the way. It decides, renders and checks with the code of the
// controller, and writes nothing.
//
// What would be written is compared with the objects of the revision that is installed, as it keeps them. What somebody has changed in the
// cluster since is not told: the manager heals that anyway. Start reading at Planner.Plan.
package extensionplan
