package v1alpha1

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
)

// OperatorVersion is a semantic version. It is read tolerantly (a leading v, missing minor and patch numbers, and
// nothing at all, which is 0.0.0) and written in the canonical form.
//
// The rule admits nothing that could not be read, because one such object would keep a client from listing any.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:XValidation:rule="self.matches('^$|^v?[0-9]{1,19}([.][0-9]{1,19}([.][0-9]{1,19}(-(0|[1-9][0-9]{0,18}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)([.](0|[1-9][0-9]{0,18}|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?)?)?$')",message="version must be a semantic version such as 1.2.3"
// +k8s:openapi-gen=true
type OperatorVersion struct {
	semver.Version `json:"-"`
}

// MarshalJSON writes the canonical form of the version.
func (v OperatorVersion) MarshalJSON() ([]byte, error) {
	return json.Marshal(v.String())
}

// UnmarshalJSON reads a version tolerantly.
func (v *OperatorVersion) UnmarshalJSON(data []byte) error {
	text, err := unmarshalString(data)
	if err != nil {
		return fmt.Errorf("read operator version: %w", err)
	}
	if text == "" {
		v.Version = semver.Version{}
		return nil
	}
	parsed, err := semver.ParseTolerant(text)
	if err != nil {
		return fmt.Errorf("read operator version %q: %w; write it as MAJOR.MINOR.PATCH", text, err)
	}
	v.Version = parsed
	return nil
}

// DeepCopyInto copies the version with its lists.
func (v *OperatorVersion) DeepCopyInto(out *OperatorVersion) {
	*out = *v
	out.Pre = slices.Clone(v.Pre)
	out.Build = slices.Clone(v.Build)
}

// DeepCopy copies the version with its lists.
func (v *OperatorVersion) DeepCopy() *OperatorVersion {
	if v == nil {
		return nil
	}
	out := new(OperatorVersion)
	v.DeepCopyInto(out)
	return out
}

// unmarshalString reads a JSON string; null is the empty string.
func unmarshalString(data []byte) (string, error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return "", err
	}
	return text, nil
}

// OpenAPISchemaType says that a version is written as a string.
func (OperatorVersion) OpenAPISchemaType() []string { return []string{"string"} }

// OpenAPISchemaFormat says that the string has no format that OpenAPI knows.
func (OperatorVersion) OpenAPISchemaFormat() string { return "" }
