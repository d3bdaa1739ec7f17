package preview

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/catalog"
)

// Catalog is a catalog as a user says it in short.
type Catalog struct {
	Ref      catalog.Ref // without namespace: that of the CatalogSource or Subscription that has the name, or the one decided on
	Priority int
	Source   string // a directory, or the reference of an image
}

// ParseCatalog reads NAME[,priority=N]=DIR|IMAGE.
func ParseCatalog(text string) (Catalog, error) {
	wrong := func(why error) (Catalog, error) {
		return Catalog{}, fmt.Errorf("--catalog %q: %w; write NAME=DIR, NAME=IMAGE or NAME,priority=N=DIR", text, why)
	}
	name, source, ok := strings.Cut(text, "=")
	if !ok {
		return wrong(errors.New("it has no ="))
	}
	c := Catalog{}
	if before, option, found := strings.Cut(name, ","); found {
		if option != "priority" {
			return wrong(fmt.Errorf("option %q is not known", option))
		}
		number, after, _ := strings.Cut(source, "=")
		priority, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return wrong(fmt.Errorf("priority %q is not a number of 32 bits", number))
		}
		c.Priority, name, source = int(priority), before, after
	}
	var err error
	if c.Ref, err = parseRef(name); err != nil {
		return wrong(err)
	}
	if source == "" {
		return wrong(errors.New("its directory or image is missing"))
	}
	c.Source = source
	return c, nil
}

// Installed is an operator that is said to be installed. With a channel, a Subscription follows that channel.
type Installed struct {
	Name    string // of the ClusterServiceVersion, as the catalog has it
	Catalog catalog.Ref
	Channel string
}

// ParseInstalled reads NAME[@CATALOG/CHANNEL].
func ParseInstalled(text string) (Installed, error) {
	name, place, found := strings.Cut(text, "@")
	i := Installed{Name: name}
	err := checkObject("ClusterServiceVersion", name)
	if found && err == nil {
		slash := strings.LastIndex(place, "/")
		if slash < 0 {
			slash, err = 0, errors.New("the catalog or the channel is missing")
		} else {
			i.Channel = place[slash+1:]
			err = CheckChannel(i.Channel)
		}
		if err == nil {
			i.Catalog, err = parseRef(place[:slash])
		}
	}
	if err != nil {
		return Installed{}, fmt.Errorf("--installed %q: %w; write NAME or NAME@CATALOG/CHANNEL, with the name of its ClusterServiceVersion", text, err)
	}
	return i, nil
}

// Wish is a Subscription as a user says it in short.
type Wish struct {
	Package     string
	Channel     string
	StartingCSV string
	Catalog     catalog.Ref // empty: the only catalog in view that has the package
}

// ParseWish reads PACKAGE[:CHANNEL][@STARTING_CSV][%CATALOG].
func ParseWish(text string) (Wish, error) {
	w := Wish{}
	rest, named, withCatalog := strings.Cut(text, "%")
	rest, starting, withStart := strings.Cut(rest, "@")
	pkg, channel, withChannel := strings.Cut(rest, ":")
	w.Package, w.Channel, w.StartingCSV = pkg, channel, starting
	err := CheckPackage(pkg)
	if withChannel {
		err = cmp.Or(err, CheckChannel(channel))
	}
	if withStart {
		err = cmp.Or(err, checkObject("ClusterServiceVersion", starting))
	}
	if withCatalog && err == nil {
		w.Catalog, err = parseRef(named)
	}
	if err != nil {
		return Wish{}, fmt.Errorf("--subscribe %q: %w; write PACKAGE[:CHANNEL][@STARTING_CSV][%%CATALOG]", text, err)
	}
	return w, nil
}

// parseRef reads [NAMESPACE/]NAME of a catalog.
func parseRef(text string) (catalog.Ref, error) {
	namespace, name, found := strings.Cut(text, "/")
	if !found {
		return catalog.Ref{Name: text}, checkObject("catalog", text)
	}
	return catalog.Ref{Namespace: namespace, Name: name}, cmp.Or(CheckNamespace(namespace), checkObject("catalog", name))
}

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
