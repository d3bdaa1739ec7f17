package v1alpha1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// maxReleaseLength is the length of the longest release.
const maxReleaseLength = 20

// OperatorRelease tells apart several publications of one version. It is a list of identifiers that are ordered like
// the pre-release part of a semantic version, except that no release at all comes first.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9A-Za-z-]+(\\\\.[0-9A-Za-z-]+)*$')",message="release must be identifiers of letters, digits and hyphens, joined by dots"
// +kubebuilder:validation:XValidation:rule="!self.split('.').exists(x, x.matches('^0[0-9]+$'))",message="a numeric identifier of a release must not begin with 0"
// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{20}$')",message="a numeric identifier of a release must have less than 20 digits"
type OperatorRelease struct {
	Release []semver.PRVersion `json:"-"`
}

// ParseOperatorRelease reads dot separated identifiers; the empty text is the empty release.
func ParseOperatorRelease(text string) (OperatorRelease, error) {
	if text == "" {
		return OperatorRelease{}, nil
	}
	if len(text) > maxReleaseLength {
		return OperatorRelease{}, fmt.Errorf("read release %q: exceeds maximum length of %d characters", text, maxReleaseLength)
	}
	var out OperatorRelease
	for i, part := range strings.Split(text, ".") {
		identifier, err := semver.NewPRVersion(part)
		if err != nil {
			return OperatorRelease{}, fmt.Errorf("read release %q: segment %d: %w", text, i, err)
		}
		out.Release = append(out.Release, identifier)
	}
	return out, nil
}

// String is the dot separated form.
func (r OperatorRelease) String() string {
	parts := make([]string, 0, len(r.Release))
	for _, identifier := range r.Release {
		parts = append(parts, identifier.String())
	}
	return strings.Join(parts, ".")
}

// IsZero says whether there is no release; such a release is left out of JSON.
func (r OperatorRelease) IsZero() bool { return len(r.Release) == 0 }

// Compare is negative when r comes before other, positive when it comes after, else 0.
func (r OperatorRelease) Compare(other OperatorRelease) int {
	return slices.CompareFunc(r.Release, other.Release, semver.PRVersion.Compare)
}

// MarshalJSON writes the dot separated form.
func (r OperatorRelease) MarshalJSON() ([]byte, error) {
	return json.Marshal(r.String())
}

// UnmarshalJSON reads the dot separated form.
func (r *OperatorRelease) UnmarshalJSON(data []byte) error {
	text, err := unmarshalString(data)
	if err != nil {
		return fmt.Errorf("read operator release: %w", err)
	}
	parsed, err := ParseOperatorRelease(text)
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// DeepCopyInto copies the release with its list.
func (r *OperatorRelease) DeepCopyInto(out *OperatorRelease) {
	out.Release = slices.Clone(r.Release)
}

// DeepCopy copies the release with its list.
func (r *OperatorRelease) DeepCopy() *OperatorRelease {
	if r == nil {
		return nil
	}
	out := new(OperatorRelease)
	r.DeepCopyInto(out)
	return out
}
