package catalog

import (
	"context"
	"fmt"
)

// Verify reads every object and checks it against its checksum. It is for who
// wants to know about damage before somebody asks for what is damaged: Open
// reads only a small part of an index file.
func (x *Index) Verify(ctx context.Context) error {
	var line []byte
	for _, o := range x.objects {
		var err error
		if line, err = x.line(o, line); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("verify the index of catalog %s: stopped before the end: %w", x.digest, context.Cause(ctx))
		}
	}
	return nil
}
