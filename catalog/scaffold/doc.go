// Package scaffold makes what the author of a catalog starts with: the olm.package object, and the Dockerfile of the catalog's image.
// It judges no more than the names it is given, and builds no image. Start reading at Package and Dockerfile.
package scaffold
