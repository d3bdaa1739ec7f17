package bundle

import (
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// PackageNeed is the value of an olm.package dependency.
type PackageNeed struct {
	PackageName string `json:"packageName"`
	// Version is a range of versions.
	Version string `json:"version"`
}

// Package is the value of a dependency of type olm.package.
func (d Dependency) Package() (PackageNeed, error) {
	var need PackageNeed
	err := d.decode(&need)
	return need, err
}

// GVK is the value of a dependency of type olm.gvk.
func (d Dependency) GVK() (catalog.GVK, error) {
	var gvk catalog.GVK
	err := d.decode(&gvk)
	return gvk, err
}

func (d Dependency) decode(out any) error {
	if err := json.Unmarshal(d.Value, out); err != nil {
		return fmt.Errorf("value of %s: %w", d.Type, err)
	}
	return nil
}
