package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// copyDirectory makes the YAML files of a directory those of another one. A link in its place goes: what packs the other directory, or copies it, would
// pack the link.
func copyDirectory(from, to string) error {
	if info, err := os.Lstat(to); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if err := os.Remove(to); err != nil {
			return fmt.Errorf("remove the link %s: %w", to, err)
		}
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("make the directory of the copies: %w", err)
	}
	old, err := filepath.Glob(filepath.Join(to, "*.yaml"))
	if err != nil {
		return fmt.Errorf("list %s: %w", to, err)
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("remove the copy from before: %w", err)
		}
	}
	names, err := filepath.Glob(filepath.Join(from, "*.yaml"))
	if err != nil {
		return fmt.Errorf("list %s: %w", from, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), data, 0o644); err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	return nil
}
