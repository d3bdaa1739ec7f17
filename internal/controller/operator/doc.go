// Package operator is the controller of Operators, which show in one place what an installed operator consists of.
//
//   - It observes Subscriptions, InstallPlans, ClusterServiceVersions, and the metadata and conditions of all kinds of components.
//   - It decides which objects belong to a package.
//   - It writes the component label of a package on these objects, creates the Operator <package>.<namespace> for the first component, and lists all
//     objects with the label in its status.
//   - It sets no condition. The reason of its Event is TooManyComponents.
//
// It never deletes an Operator. Of components it writes that label and nothing else.
//
// Start reading at Controller.Reconcile (controller.go); names.go and status.go are pure.
package operator
