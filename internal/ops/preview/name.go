package preview

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// CheckNamespace refuses what no namespace can be called.
func CheckNamespace(name string) error {
	return checked("namespace", name, validation.IsDNS1123Label)
}

// checkObject refuses what no object, such as a CatalogSource or a ClusterServiceVersion, can be called.
func checkObject(what, name string) error {
	return checked(what, name, validation.IsDNS1123Subdomain)
}

// CheckPackage refuses what no package can be called. More is allowed than Kubernetes allows for its objects, as catalogs do.
func CheckPackage(name string) error { return checkEntry("package", name) }

// checkEntry refuses what no package, channel or version in a catalog can be called.
func checkEntry(what, name string) error {
	return checked(what, name, func(name string) []string {
		// Build metadata of a version begins with a plus.
		if len(validation.IsConfigMapKey(strings.ReplaceAll(name, "+", "-"))) == 0 {
			return nil
		}
		return []string{"it must consist of at most 253 letters, digits, '-', '_', '.' or '+'"}
	})
}

// CheckOperator refuses what no ClusterServiceVersion, package or Subscription can be called.
func CheckOperator(name string) error { return checkEntry("operator", name) }

// CheckVersion refuses what is neither a version nor the name of a bundle.
func CheckVersion(name string) error { return checkEntry("version", name) }

// CheckChannel refuses what no channel can be called.
func CheckChannel(name string) error { return checkEntry("channel", name) }

func checked(what, name string, rules func(string) []string) error {
	if name == "" {
		return errors.New("the " + what + " is missing")
	}
	if broken := rules(name); len(broken) > 0 {
		rule, _, _ := strings.Cut(broken[0], " (e.g. ") // which goes on with a regular expression
		return fmt.Errorf("%q is not a valid %s name: %s", name, what, rule)
	}
	return nil
}
