package crd

import (
	"fmt"
	"strings"
)

// Check names a rule, in findings and in what switches rules off.
type Check string

// The checks of CRD upgrade safety that look at a CRD as a whole.
const (
	Scope                Check = "scope"
	StoredVersionRemoval Check = "storedVersionRemoval"
	ExistingFieldRemoval Check = "existingFieldRemoval"
	// Removal is that of a whole CRD that has custom resources. Those who count them make its findings.
	Removal Check = "removal"
)

// The checks of CRD upgrade safety that look at one property of one version, or of two versions that are served.
const (
	Default       Check = "default"
	Enum          Check = "enum"
	Maximum       Check = "maximum"
	MaxItems      Check = "maxItems"
	MaxLength     Check = "maxLength"
	MaxProperties Check = "maxProperties"
	Minimum       Check = "minimum"
	MinItems      Check = "minItems"
	MinLength     Check = "minLength"
	MinProperties Check = "minProperties"
	Nullable      Check = "nullable"
	OneOf         Check = "oneOf"
	Pattern       Check = "pattern"
	Required      Check = "required"
	Type          Check = "type"
	Unhandled     Check = "unhandled"
)

// Published are the checks of CRD upgrade safety, which users can exempt by name, and the removal of a CRD, sorted.
func Published() []Check {
	return []Check{Default, Enum, ExistingFieldRemoval, MaxItems, MaxLength, MaxProperties, Maximum, MinItems, MinLength, MinProperties, Minimum,
		Nullable, OneOf, Pattern, Removal, Required, Scope, StoredVersionRemoval, Type, Unhandled}
}

// The rules for InstallPlans.
const (
	ServedVersionRemoval Check = "servedVersionRemoval"
	Dependents           Check = "dependents"
	SingleProvider       Check = "singleProvider"
	SharedDefinition     Check = "sharedDefinition"
	ExistingObjects      Check = "existingObjects"
	StorageChange        Check = "storageChange"
	StoredContent        Check = "storedContent"
	ConversionRemoval    Check = "conversionRemoval"
)

// Finding is one reason not to upgrade a CRD.
type Finding struct {
	CRD   string
	Check Check
	// Version is the version that was looked at, or two of them as "v1beta1 -> v1"; empty is the whole CRD.
	Version string
	// Path is the property, e.g. ^.spec.replicas, where ^ is the object; empty is the whole version.
	Path string
	// What has changed.
	What string
	// Remedy is what to do about it.
	Remedy string
	// Exempt says which exemption lets the change pass; empty findings stand in the way.
	Exempt string
}

// String is the finding in one line: version, property, check, and what has changed.
func (f Finding) String() string {
	parts := make([]string, 0, 4)
	for _, part := range []string{f.Version, f.Path, string(f.Check)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(append(parts, f.What), ": ")
}

// Sentence is what has changed, and what to do about it.
func (f Finding) Sentence() string {
	if f.Remedy == "" {
		return f.What
	}
	return fmt.Sprintf("%s; %s", f.What, f.Remedy)
}

// Blocking are the findings that no exemption covers.
func Blocking(findings []Finding) []Finding {
	var blocking []Finding
	for _, f := range findings {
		if f.Exempt == "" {
			blocking = append(blocking, f)
		}
	}
	return blocking
}
