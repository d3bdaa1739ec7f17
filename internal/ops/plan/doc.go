// Package plan reports what would change in the cluster if a ClusterExtension was brought up to date now: which objects are added, changed and
// removed, which permissions and images come and go, and what is in the way. It decides with desired.Next, as the controller does, renders
// and checks with the same code, and writes nothing.
//
// What would be written is compared with the objects of the installed revision, as it keeps them. Drift in the cluster is not reported: the
// manager corrects that anyway. Start reading at Planner.Plan (planner.go).
package plan
