package v1alpha1

import (
	"errors"
	"fmt"
)

// Validate tells what is wrong with a spec that cannot be acted on, and nil when nothing is.
func (s *CatalogSourceSpec) Validate() error {
	switch s.SourceType {
	case SourceTypeGrpc:
		if s.Image == "" && s.Address == "" {
			return errors.New("image and address unset: at least one must be set for sourcetype: grpc")
		}
		return nil
	case SourceTypeConfigmap, SourceTypeInternal:
		if s.ConfigMap == "" {
			return fmt.Errorf("configmap name unset: must be set for sourcetype: %s", s.SourceType)
		}
		return nil
	}
	return fmt.Errorf("unknown sourcetype: %s", s.SourceType)
}
