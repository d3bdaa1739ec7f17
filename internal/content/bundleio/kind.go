package bundleio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"fairlead.dev/fairlead/bundle/packagemanifest"
)

// Kinds is a set of kinds of reference.
type Kinds uint8

// The kinds of reference.
const (
	CatalogDir Kinds = 1 << iota
	CatalogFile
	CatalogImage
	BundleDir
	BundleImage
	PackageManifests

	// Catalogs are all kinds that hold a catalog, Images those that are images.
	Catalogs = CatalogDir | CatalogFile | CatalogImage | PackageManifests
	Images   = CatalogImage | BundleImage
	Any      = Catalogs | BundleDir | BundleImage
)

var kindNames = []struct {
	kind Kinds
	name string
}{
	{CatalogDir, "catalog directory"},
	{CatalogFile, "catalog file"},
	{CatalogImage, "catalog image"},
	{BundleDir, "bundle directory"},
	{BundleImage, "bundle image"},
	{PackageManifests, "package-manifest directory"},
}

// String names the kinds.
func (k Kinds) String() string {
	var names []string
	for _, n := range kindNames {
		if k&n.kind != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

// check refuses a reference of a kind that is not allowed.
func (k Kinds) check(found Kinds) error {
	if k == 0 || k&found != 0 {
		return nil
	}
	return fmt.Errorf("it is a %s: not allowed here; give a %s", found, k)
}

// local finds out what a reference on disk is. It is 0 if there is nothing of that name.
func local(ref string) (Kinds, error) {
	info, err := os.Stat(ref)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // file/name:tag, where a file is called like the host of a registry
		return 0, nil
	case err != nil:
		return 0, err
	case info.Mode().IsRegular():
		return CatalogFile, nil
	case !info.IsDir():
		return 0, errors.New("it is neither a file nor a directory")
	case isDir(ref, "manifests") && isDir(ref, "metadata"):
		return BundleDir, nil
	}
	if packagemanifest.Is(os.DirFS(ref)) {
		return PackageManifests, nil
	}
	return CatalogDir, nil
}

func isDir(parts ...string) bool {
	info, err := os.Stat(filepath.Join(parts...))
	return err == nil && info.IsDir()
}

// CheckImage refuses what cannot have been meant as the name of an image: it has to begin with the host of a registry.
func CheckImage(ref string) error {
	if ref == "" {
		return errors.New("the reference is empty; name a directory or an image")
	}
	if scheme, _, ok := strings.Cut(ref, "://"); ok {
		return fmt.Errorf("it begins with %s://; write an image without it, as in quay.io/org/name:tag", scheme)
	}
	if !HasHost(ref) || strings.ContainsAny(ref, `\ `) {
		return errors.New("there is no file or directory of that name; if it is an image, write the host of its registry, too, as in quay.io/org/name:tag")
	}
	return nil
}

// HasHost tells whether a reference begins with the host of a registry.
func HasHost(ref string) bool {
	host, _, found := strings.Cut(ref, "/")
	return found && !strings.HasPrefix(host, ".") && (host == "localhost" || strings.ContainsAny(host, ".:"))
}
