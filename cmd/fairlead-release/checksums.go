package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/content/signature"
)

// checksums are the SHA-256 of the files in a directory, by name; directories in it are left out.
func checksums(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read what was made: %w", err)
	}
	sums := map[string]string{}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read what was made: %w", err)
		}
		sums[entry.Name()] = sum(content)
	}
	return sums, nil
}

// writeChecksums writes the checksums of all files as sha256sum does, and returns their names.
func writeChecksums(dir string) ([]string, error) {
	sums, err := checksums(dir)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(sums))
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	if err := os.WriteFile(filepath.Join(dir, ChecksumsFile), []byte(text.String()), 0o644); err != nil {
		return nil, fmt.Errorf("write the checksums: %w", err)
	}
	return names, nil
}

// SignChecksums signs the checksums of a release, and with them all of its files, as cosign sign-blob does: in base64.
func SignChecksums(dir string, key *signature.Key) error {
	text, err := os.ReadFile(filepath.Join(dir, ChecksumsFile))
	if err != nil {
		return fmt.Errorf("sign the checksums: %w", err)
	}
	signed, err := key.SignBlob(text)
	if err != nil {
		return fmt.Errorf("sign the checksums: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, SignatureFile), []byte(base64.StdEncoding.EncodeToString(signed)+"\n"), 0o644); err != nil {
		return fmt.Errorf("write the signature of the checksums: %w", err)
	}
	return nil
}
