// Package stored looks after the objects of a CustomResourceDefinition that a cluster has stored already, when that is to be replaced.
//
// Check reads them page by page and asks a crdupgrade.Validator which of them the upgrade would make invalid. Migration rewrites those
// that may be stored in a version that goes, page by page as well, and then takes the version off status.storedVersions. Both are given
// a number of pages, return, and go on from there the next time, so that nobody waits for a million objects; what a migration has done is
// noted on the CRD, so that it survives a restart.
//
// The package never decides whether an upgrade may be made, never changes what an object says, and holds one page in memory.
//
// Start reading at check.go and migration.go; pages.go has what they share, and position.go how a migration remembers where it is.
package stored
