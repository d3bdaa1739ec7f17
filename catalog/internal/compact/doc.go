// Package compact writes and reads a tree of values as numbers and references
// to texts, each of which is kept once however often it occurs.
//
// An [Encoder] makes [Sections], a [Decoder] reads them back. Texts that were
// read share one string and values share one slice, so that many small ones
// cost little memory and no time.
//
// The package knows nothing of what is written, and trusts nothing that it
// reads: a number is never taken for a count or a reference before it was held
// against what there is, and the first fault ends the reading. Start reading at
// [Encoder] and [Decoder].
package compact
