package image

import (
	"archive/tar"
	"errors"
	"io"
	"unicode/utf8"
)

// extraction reads the layers of one image, lowest first, into a pack.
type extraction struct {
	budget budget
	wanted func(path string) bool
	merge  *merger
	out    *packWriter

	progress func(read, total int64) // may be nil
	total    int64                   // compressed size of all layers
}

// layer applies one layer. It has read and verified all of it when it returns
// without an error.
func (x *extraction) layer(b *blob) error {
	x.merge.layer++
	compressed := &countedReader{r: b, take: func(n, _ int64) error {
		err := x.budget.takeCompressed(n)
		if x.progress != nil && err == nil && n > 0 {
			x.progress(x.budget.compressed, x.total)
		}
		return err
	}}
	err := x.contents(compressed)
	if errors.Is(err, errStore) || KindOf(err) == LimitExceeded {
		return err
	}
	// What follows the archive belongs to the digest too; and content that
	// cannot be read is suspected first of all to be other content.
	if _, drainErr := io.Copy(io.Discard, compressed); drainErr != nil {
		return drainErr
	}
	if err != nil && KindOf(err) == "" {
		return &Error{Kind: InvalidImage, Reason: "a layer cannot be read: " + steady(err.Error()), Err: err}
	}
	return err
}

// contents decompresses a layer and applies its entries.
func (x *extraction) contents(compressed *countedReader) error {
	expanded, err := decompress(compressed)
	if err != nil {
		return err
	}
	defer expanded.Close()
	archive := tar.NewReader(&countedReader{r: expanded, take: func(n, total int64) error {
		return x.budget.takeExpanded(n, total, compressed.n)
	}})
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := x.entry(header, archive); err != nil {
			return err
		}
	}
}

// entry applies one entry of a layer.
func (x *extraction) entry(header *tar.Header, data io.Reader) error {
	limits := x.budget.limits
	if x.budget.entries++; x.budget.entries > limits.Entries {
		return exceeded("Entries", limits.Entries, "its layers have more entries")
	}
	if long := len(header.Name); long > limits.PathLength {
		return exceeded("PathLength", limits.PathLength, "it holds a path of %d bytes, %q...", long, header.Name[:min(long, 64)])
	}
	name, err := parseName(header.Name)
	if err != nil {
		return err
	}
	if target, opaque, ok := name.whiteoutTarget(); ok {
		switch {
		case opaque:
			if dir := x.merge.find(target); dir != nil && dir.children != nil {
				x.merge.prune(dir)
			}
		case target != "":
			x.merge.whiteout(target)
		}
		return nil
	}
	if name.path == "." || !utf8.ValidString(name.path) {
		return nil
	}
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		ok, err := x.keep(name)
		if err != nil || !ok {
			return err
		}
		if err := x.budget.takeContent(name.path, header.Size); err != nil {
			return err
		}
		content, err := x.out.add(data, header.Size)
		if err != nil {
			return err
		}
		return x.budget.takeFiles(x.merge.put(name.path, &node{content: content}))
	case tar.TypeLink, tar.TypeSymlink:
		return x.link(name, header)
	default: // directories, devices, pipes
		x.merge.clear(name.path, header.Typeflag == tar.TypeDir)
		return nil
	}
}

// keep tells whether the name is wanted, and makes way for it in any case.
func (x *extraction) keep(name entryName) (bool, error) {
	if !x.wanted(name.path) {
		x.merge.clear(name.path, false)
		if x.budget.names += int64(len(name.path)); x.budget.names > x.budget.limits.NameBytes {
			return false, exceeded("NameBytes", x.budget.limits.NameBytes, "the names of its files take more bytes")
		}
		return false, x.out.skip(name.path)
	}
	if name.absolute {
		return false, problem(InvalidImage, "a layer holds the absolute name %q; names must be relative", "/"+name.path)
	}
	return true, x.budget.takeFiles(1)
}

// countedReader reports what is read to a budget.
type countedReader struct {
	r    io.Reader
	n    int64
	take func(n, total int64) error
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if overrun := c.take(int64(n), c.n); overrun != nil {
		return n, overrun
	}
	return n, err
}
