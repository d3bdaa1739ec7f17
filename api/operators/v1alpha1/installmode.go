package v1alpha1

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InstallModeType names a set of target namespaces that an operator may be able to watch.
type InstallModeType string

// Install modes.
const (
	// InstallModeTypeOwnNamespace means that the operator can watch the namespace it runs in.
	InstallModeTypeOwnNamespace InstallModeType = "OwnNamespace"
	// InstallModeTypeSingleNamespace means that the operator can watch one namespace other than its own.
	InstallModeTypeSingleNamespace InstallModeType = "SingleNamespace"
	// InstallModeTypeMultiNamespace means that the operator can watch several namespaces.
	InstallModeTypeMultiNamespace InstallModeType = "MultiNamespace"
	// InstallModeTypeAllNamespaces means that the operator can watch all namespaces.
	InstallModeTypeAllNamespaces InstallModeType = "AllNamespaces"
)

// InstallMode says whether an operator supports one install mode.
//
// +k8s:openapi-gen=true
type InstallMode struct {
	Type      InstallModeType `json:"type"`
	Supported bool            `json:"supported"`
}

// InstallModeSet is the install modes of an operator; one that is not in it is not supported.
//
// +kubebuilder:object:generate=false
type InstallModeSet map[InstallModeType]bool

// NewInstallModeSet makes a set; it is an error to name a mode twice.
func NewInstallModeSet(modes []InstallMode) (InstallModeSet, error) {
	set := InstallModeSet{}
	for _, mode := range modes {
		if _, twice := set[mode.Type]; twice {
			return nil, fmt.Errorf("InstallModes contain %s more than once: name each install mode once", mode.Type)
		}
		set[mode.Type] = mode.Supported
	}
	return set, nil
}

// Supports says whether an operator that runs in operatorNamespace can watch the targets, where one empty name stands
// for all namespaces. The error names the missing mode.
func (s InstallModeSet) Supports(operatorNamespace string, targets []string) error {
	switch len(targets) {
	case 0:
		return errors.New("invalid target namespaces: at least one namespace has to be selected")
	case 1:
		switch targets[0] {
		case metav1.NamespaceAll:
			return s.require(InstallModeTypeAllNamespaces, "all namespaces")
		case operatorNamespace:
			return s.require(InstallModeTypeOwnNamespace, "own namespace")
		default:
			return s.require(InstallModeTypeSingleNamespace, "one namespace")
		}
	default:
		if slices.Contains(targets, metav1.NamespaceAll) {
			return fmt.Errorf("invalid target namespaces: all namespaces cannot be combined with %d others", len(targets)-1)
		}
		if err := s.require(InstallModeTypeMultiNamespace, fmt.Sprintf("%d namespaces", len(targets))); err != nil {
			return err
		}
		if slices.Contains(targets, operatorNamespace) {
			return s.require(InstallModeTypeOwnNamespace, "own namespace")
		}
		return nil
	}
}

// require is an error that begins with the mode, unless the mode is supported.
func (s InstallModeSet) require(mode InstallModeType, what string) error {
	if s[mode] {
		return nil
	}
	return fmt.Errorf("%s InstallModeType not supported, cannot configure to watch %s", mode, what)
}
