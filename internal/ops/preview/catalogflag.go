package preview

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// How a catalog is written after --catalog, by what a command does with it: each says in its help what it takes, and no more.
const (
	// CatalogGrammar is for commands that show what catalogs have, wherever these are: ParseCatalogFlag.
	CatalogGrammar = clusterGrammar + ", or an image or a directory as [NAME=]IMAGE|DIR"
	// OfflineCatalogGrammar is for commands that decide as the manager does: ParseOfflineCatalog.
	OfflineCatalogGrammar = "an image or a directory as [[NAMESPACE/]NAME[,priority=N]=]IMAGE|DIR"
	// CatalogImageGrammar is for commands that need an image: ParseCatalogImage.
	CatalogImageGrammar = "an IMAGE, with the host of its registry"

	clusterGrammar = "[NAMESPACE/]NAME of one of the cluster"
)

// Offline reports whether the catalog is read from an image or a directory, and no cluster has to have it.
func (c Catalog) Offline() bool { return c.Source != "" }

// ParseCatalogFlag reads CatalogGrammar; a namespace and a priority before an image or a directory are let pass. A text that could be the name of a catalog and is that of a directory which is there means the directory; it
// has the last part of its name then, and an image that of its repository.
func ParseCatalogFlag(text string) (Catalog, error) { return parseCatalog(text, CatalogGrammar) }

// parseCatalog reads a catalog in any form. The grammar is for the error of one that has none.
func parseCatalog(text, grammar string) (Catalog, error) {
	if strings.Contains(text, "=") {
		return ParseCatalog(text)
	}
	if isPath(text) || isDirectory(text) || IsReference(text) {
		name, _, _ := strings.Cut(path.Base(path.Clean(text)), "@")
		name, _, _ = strings.Cut(name, ":")
		c := Catalog{Source: text}
		c.Ref.Name = name
		return c, nil
	}
	ref, err := parseRef(text)
	if err != nil {
		return Catalog{}, fmt.Errorf("--catalog %q: %w; write %s", text, err, grammar)
	}
	return Catalog{Ref: ref}, nil
}

// isPath reports whether a text is a path by its form.
func isPath(text string) bool {
	return text == "." || text == ".." || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
}

func isDirectory(text string) bool {
	info, err := os.Stat(text)
	return err == nil && info.IsDir()
}

// ParseOfflineCatalog reads OfflineCatalogGrammar, for commands that read the catalogs of the cluster anyway, but for those that are named.
func ParseOfflineCatalog(text string) (Catalog, error) {
	c, err := parseCatalog(text, OfflineCatalogGrammar)
	if err == nil && !c.Offline() {
		err = fmt.Errorf("--catalog %q: it is neither an image nor a directory that is there; write NAME=DIR or NAME=IMAGE here, since catalogs of the cluster are read without this flag", text)
	}
	return c, err
}

// ParseClusterCatalogs reads the names of catalogs, separated by commas, for commands that ask the cluster to use catalogs that it has. What can be a name
// is one, whatever directories there are.
func ParseClusterCatalogs(text string) ([]Catalog, error) {
	var all []Catalog
	for one := range strings.SplitSeq(text, ",") {
		ref, err := parseRef(one)
		switch {
		case strings.Contains(one, "=") || isPath(one) || IsReference(one):
			return nil, fmt.Errorf("--catalog %q: this command needs a catalog that the cluster has; to make one of an image: fairlead catalog add NAME IMAGE", one)
		case err != nil:
			return nil, fmt.Errorf("--catalog %q: %w; write %s", one, err, clusterGrammar)
		}
		all = append(all, Catalog{Ref: ref})
	}
	return all, nil
}

// ParseCatalogImage reads CatalogImageGrammar, for commands that need the image of a catalog.
func ParseCatalogImage(text string) (string, error) {
	c, err := parseCatalog(text, CatalogImageGrammar)
	switch {
	case err != nil:
		return "", err
	case !c.Offline() || isPath(c.Source) || isDirectory(c.Source):
		return "", errors.New("--catalog " + fmt.Sprintf("%q", text) + ": this command needs the image of a catalog; write it with the host of its registry")
	}
	return c.Source, nil
}
