package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// packed is a file of an archive, or a link to another one.
type packed struct {
	name string
	mode int64
	data []byte
	link string
}

// pluginName is the name by which kubectl finds fairlead.
const pluginName = "kubectl-fairlead"

// makeArchives builds the programs for all platforms, and packs each with the license: a .tar.gz, or a .zip for Windows.
func (o Options) makeArchives(ctx context.Context, image string) error {
	if len(o.Programs) == 0 {
		return nil
	}
	license, err := os.ReadFile(filepath.Join(o.Source, "LICENSE"))
	if err != nil {
		return fmt.Errorf("read the license: %w", err)
	}
	for _, platform := range o.Platforms {
		for _, pkg := range o.Programs {
			if err := o.makeArchive(ctx, pkg, platform, image, license); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o Options) makeArchive(ctx context.Context, pkg, platform, image string, license []byte) error {
	name, suffix := filepath.Base(pkg), ""
	if strings.HasPrefix(platform, "windows/") {
		suffix = ".exe"
	}
	stem := filepath.Join(o.Out, strings.Join([]string{name, o.Version, strings.ReplaceAll(platform, "/", "_")}, "_"))
	program, _, err := o.makeProgram(ctx, pkg, platform, image, stem+suffix)
	if err != nil {
		return err
	}
	all := []packed{{name: name + suffix, mode: 0o755, data: program}, {name: "LICENSE", mode: 0o644, data: license}}
	write, file := writeTarball, stem+".tar.gz"
	switch {
	case suffix != "":
		write, file = writeZip, stem+".zip"
	case name == "fairlead":
		all = append(all, packed{name: pluginName, mode: 0o777, link: name})
	}
	if err := write(file, all, o.Time); err != nil {
		return fmt.Errorf("pack %s for %s: %w", pkg, platform, err)
	}
	return os.Remove(stem + suffix)
}

// writeTarball writes a .tar.gz in which everything is of one time and of root.
func writeTarball(file string, all []packed, at time.Time) (err error) {
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zipped)
	for _, f := range all {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at.UTC().Truncate(time.Second), Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if f.link != "" {
			header.Typeflag, header.Linkname = tar.TypeSymlink, f.link
		}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// writeZip writes a .zip in which everything is of one time.
func writeZip(file string, all []packed, at time.Time) error {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range all {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at.UTC().Truncate(2 * time.Second)}
		header.SetMode(os.FileMode(f.mode))
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(f.data)
		}
		if err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}
