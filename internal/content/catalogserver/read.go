package catalogserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// progressInterval is how often reading says that it continues.
const progressInterval = 5 * time.Second

// Check reads catalogs, as Run does when it starts, and complains if anything is wrong with one of them.
func Check(ctx context.Context, catalogs []Catalog, log *slog.Logger) error {
	var all error
	for _, c := range catalogs {
		index, err := Read(ctx, c, log)
		if err == nil {
			if err = index.Problems().Err(); err != nil {
				err = fmt.Errorf("catalog %s from %s: %w", c.Name, c.Origin, err)
			}
		}
		all = errors.Join(all, err)
	}
	return all
}

// Read reads a catalog and says in the log that it does, what it found and what is wrong with it.
func Read(ctx context.Context, c Catalog, log *slog.Logger) (*catalog.Index, error) {
	log = log.With("catalog", c.Name)
	log.Info("reading", "from", c.Origin.String())
	begin := time.Now()
	done := make(chan struct{})
	go func() {
		ticks := time.NewTicker(progressInterval)
		defer ticks.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticks.C:
				log.Info("still reading", "for", time.Since(begin).Round(time.Second))
			}
		}
	}()
	index, err := c.Origin.Read(ctx)
	close(done)
	if err != nil {
		return nil, fmt.Errorf("read catalog %s from %s: %w", c.Name, c.Origin, err)
	}
	// Write what is wrong with the catalog. What it is about is not served; everything else is.
	problems := index.Problems().Errors()
	for _, p := range problems[:min(len(problems), reportedProblems)] {
		log.Warn("not served as written", "problem", p.String())
	}
	if more := len(problems) - reportedProblems; more > 0 {
		log.Warn("more problems; fairlead catalog validate lists them", "count", more)
	}
	log.Info("read", "packages", len(index.PackageNames()), "digest", index.Digest(), "took", time.Since(begin).Round(time.Millisecond))
	return index, nil
}

// reportedProblems bounds how many problems are written to the log one by one.
const reportedProblems = 20
