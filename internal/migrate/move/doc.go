// Package move makes a ClusterExtension of an operator that a Subscription has installed, in place, and takes that back. What is to be done is
// decided in internal/migrate; here it is done, in steps that can be cut short anywhere and gone on with by doing the same again.
//
// Nothing is changed before the Secret with the backup is there, and every step looks first whether it was done. Until the objects belong to
// the ClusterExtension, the ClusterServiceVersion has them; the Subscription goes only while that is being deleted already, so that at no time
// somebody sees an operator whose configuration is gone.
//
// Start reading at Mover.Plan (gather.go), then Mover.Run (run.go) and Mover.Undo (undo.go).
package move
