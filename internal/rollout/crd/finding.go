package crd

import (
	"encoding/json"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Check names a rule, in findings and in what switches rules off.
type Check string

// The checks of CRD upgrade safety on a CRD as a whole.
const (
	Scope                Check = "scope"
	StoredVersionRemoval Check = "storedVersionRemoval"
	ExistingFieldRemoval Check = "existingFieldRemoval"
	// Removal is that of a whole CRD that has custom resources. Those who count them make its findings.
	Removal Check = "removal"
)

// The checks of CRD upgrade safety on one property of one version, or of two versions that are served.
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
	// Version is the version that was checked, or two of them as "v1beta1 -> v1"; empty is the whole CRD.
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

// What an UnsafeError says at most: statuses are limited, and no one reads thousands of lines of one.
const (
	maxLines = 20
	maxBytes = 4096
)

// UnsafeError is why a CRD is not upgraded.
type UnsafeError struct {
	CRD string
	// Findings are all that stand in the way.
	Findings []Finding
}

// NewUnsafeError returns the findings that stand in the way as an error; nil is none.
func NewUnsafeError(crd string, findings []Finding) error {
	if blocking := Blocking(findings); len(blocking) > 0 {
		return &UnsafeError{CRD: crd, Findings: blocking}
	}
	return nil
}

// Error lists the first findings and says how many there are. Report has them all.
func (e *UnsafeError) Error() string {
	text := fmt.Sprintf("validating upgrade for CRD %q: ", e.CRD)
	size := len(text) - len("\n")
	var lines []string
	for i, f := range e.Findings[:min(maxLines, len(e.Findings))] {
		line := f.String()
		if i > 0 && size+len(line) > maxBytes {
			break
		}
		size += len(line) + len("\n")
		lines = append(lines, line)
	}
	return text + safetext.Sample(lines, len(e.Findings), "\n")
}

// Report is everything there is to say about an upgrade, exempted findings included, with what to do about each.
func Report(crd string, findings []Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CustomResourceDefinition %s: %d findings, %d of them block the upgrade\n", crd, len(findings), len(Blocking(findings)))
	for _, f := range findings {
		fmt.Fprintf(&b, "\n%s\n", f)
		if f.Exempt != "" {
			fmt.Fprintf(&b, "  %s\n", f.Exempt)
			continue
		}
		fmt.Fprintf(&b, "  to do: %s\n", f.Remedy)
	}
	return b.String()
}

// maxText is how much a message says of a text of others, such as webhooks.
const maxText = 1000

// short makes a value from a CRD fit for a line of a message.
func short(text string) string { return messages.Line(text, 120) }

// names lists a set in order.
func names(set sets.Set[string]) string { return short(strings.Join(sets.List(set), ", ")) }

// canonical is a JSON value in the one form that equal values share; empty is none.
func canonical(value *apiextensionsv1.JSON) string {
	if value == nil || len(value.Raw) == 0 {
		return ""
	}
	var decoded any
	if json.Unmarshal(value.Raw, &decoded) != nil {
		return string(value.Raw)
	}
	text, err := json.Marshal(decoded)
	if err != nil {
		return string(value.Raw)
	}
	return string(text)
}

func canonicalSet(values []apiextensionsv1.JSON) sets.Set[string] {
	set := sets.New[string]()
	for i := range values {
		set.Insert(canonical(&values[i]))
	}
	return set
}

func canonicalSchemas(schemas []props) sets.Set[string] {
	set := sets.New[string]()
	for i := range schemas {
		bare := schemas[i].DeepCopy()
		undocument(bare)
		if text, err := json.Marshal(bare); err == nil {
			set.Insert(canonical(&apiextensionsv1.JSON{Raw: text}))
		}
	}
	return set
}
