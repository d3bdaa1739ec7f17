package scaffold

import (
	"fmt"
	"io"
	"os"

	"fairlead.dev/fairlead/catalog"
)

// maxDescription bounds the description of a package, for the same reason as maxIcon.
const maxDescription = 1 << 20

// PackageFromFiles makes an olm.package whose description and icon are in files. An empty name means that there is none.
func PackageFromFiles(name, defaultChannel, descriptionFile, iconFile string) (catalog.Package, error) {
	description, err := readNamed(descriptionFile, maxDescription)
	if err != nil {
		return catalog.Package{}, fmt.Errorf("make package %q: read its description: %w", name, err)
	}
	icon, err := readNamed(iconFile, maxIcon)
	if err != nil {
		return catalog.Package{}, fmt.Errorf("make package %q: read its icon: %w", name, err)
	}
	return Package(name, defaultChannel, string(description), icon)
}

// readNamed reads a small file, nothing if it has no name.
func readNamed(name string, most int64) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes; make it smaller", name, most)
	}
	return content, nil
}
