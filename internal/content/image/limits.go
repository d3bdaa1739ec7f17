package image

import (
	"cmp"
	"fmt"
	"time"
)

// Limits bound what one pull may cost, whatever the image holds. A zero field
// means its default.
type Limits struct {
	// CompressedBytes bounds what all layers together take on the wire (2 GiB).
	CompressedBytes int64
	// ExpandedBytes bounds what all layers together decompress to (8 GiB).
	ExpandedBytes int64
	// KeptBytes bounds what all kept files together take (1 GiB).
	KeptBytes int64
	// FileBytes bounds a single kept file (256 MiB).
	FileBytes int64
	// Ratio bounds how many times larger than its compressed form a layer may
	// become (200). Layers that stay under 16 MiB are not held to it.
	Ratio int
	// Entries bounds the entries of all layers together, kept or not (250,000).
	Entries int
	// Files bounds the kept files, together with the links to them and the
	// directories that they are in (20,000).
	Files int
	// PathLength bounds a path inside the image, in bytes (1,024).
	PathLength int
	// NameBytes bounds the names of all files that are not kept (64 MiB).
	NameBytes int64
	// Layers bounds the number of layers (128).
	Layers int
	// ConfigBytes bounds the image configuration, which has the labels (4 MiB).
	ConfigBytes int64
	// Stall bounds how long a registry may stay silent (8 s).
	Stall time.Duration
	// Duration bounds the whole pull (15 min).
	Duration time.Duration
}

const (
	mib = 1 << 20
	gib = 1 << 30

	ratioFloor = 16 * mib // a layer smaller than this, expanded, has no ratio
)

// withDefaults fills the fields that are zero.
func (l Limits) withDefaults() Limits {
	l.CompressedBytes = cmp.Or(l.CompressedBytes, 2*gib)
	l.ExpandedBytes = cmp.Or(l.ExpandedBytes, 8*gib)
	l.KeptBytes = cmp.Or(l.KeptBytes, gib)
	l.FileBytes = cmp.Or(l.FileBytes, 256*mib)
	l.Ratio = cmp.Or(l.Ratio, 200)
	l.Entries = cmp.Or(l.Entries, 250_000)
	l.Files = cmp.Or(l.Files, 20_000)
	l.PathLength = cmp.Or(l.PathLength, 1024)
	l.NameBytes = cmp.Or(l.NameBytes, 64*mib)
	l.Layers = cmp.Or(l.Layers, 128)
	l.ConfigBytes = cmp.Or(l.ConfigBytes, 4*mib)
	l.Stall = cmp.Or(l.Stall, 8*time.Second)
	l.Duration = cmp.Or(l.Duration, 15*time.Minute)
	return l
}

// exceeded is the error of every limit: it names the limit, its value and what
// went over it.
func exceeded[T int | int64](limit string, value T, format string, args ...any) *Error {
	e := problem(LimitExceeded, "%s, more than the limit %s = %d allows", fmt.Sprintf(format, args...), limit, value)
	e.Advice = "use a smaller image, or raise the limit " + limit
	return e
}

// budget is what is left of the limits while an image is read.
type budget struct {
	limits                     Limits
	compressed, expanded, kept int64
	entries, files             int
	names                      int64
}

func (b *budget) takeCompressed(n int64) error {
	if b.compressed += n; b.compressed > b.limits.CompressedBytes {
		return exceeded("CompressedBytes", b.limits.CompressedBytes, "its layers are larger")
	}
	return nil
}

// takeExpanded accounts for n more bytes of a layer that has become `total`
// bytes out of `compressed` ones.
func (b *budget) takeExpanded(n, total, compressed int64) error {
	if b.expanded += n; b.expanded > b.limits.ExpandedBytes {
		return exceeded("ExpandedBytes", b.limits.ExpandedBytes, "its layers decompress to more bytes")
	}
	if total > ratioFloor && total/max(compressed, 1) >= int64(b.limits.Ratio) {
		return exceeded("Ratio", b.limits.Ratio, "a layer decompresses to too many times its size")
	}
	return nil
}

// takeFiles accounts for n more names that are kept.
func (b *budget) takeFiles(n int) error {
	if b.files += n; b.files > b.limits.Files {
		return exceeded("Files", b.limits.Files, "more of its files are wanted")
	}
	return nil
}

// takeContent accounts for the content of a kept file, or of a link to one:
// the one who reads the image reads it once for each.
func (b *budget) takeContent(path string, size int64) error {
	if size > b.limits.FileBytes {
		return exceeded("FileBytes", b.limits.FileBytes, "its file %q has %d bytes", path, size)
	}
	if b.kept += size; b.kept > b.limits.KeptBytes {
		return exceeded("KeptBytes", b.limits.KeptBytes, "its wanted files are larger together")
	}
	return nil
}
