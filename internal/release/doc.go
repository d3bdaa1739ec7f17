// Package release makes what is published of the manager, with Go alone: the static program, an image of it as an OCI layout, a bill of
// materials in SPDX and a statement of its provenance. The same sources, toolchain and CA certificates give the same bytes.
//
// It pushes and signs nothing. Start reading at Make (make.go).
package release
