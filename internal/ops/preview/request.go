package preview

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// Catalog is a catalog as a user says it in short.
type Catalog struct {
	Ref      catalog.Ref // without namespace: that of the CatalogSource or Subscription that has the name, or the one decided on
	Priority int
	Source   string // a directory, or the reference of an image
	// Index is what was read of it; nil where it is still to be read.
	Index *catalog.Index
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
	err := Check("ClusterServiceVersion", name)
	if found && err == nil {
		slash := strings.LastIndex(place, "/")
		if slash < 0 {
			slash, err = 0, errors.New("the catalog or the channel is missing")
		} else {
			i.Channel = place[slash+1:]
			err = Check("channel", i.Channel)
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

// Request is a Subscription as a user says it in short.
type Request struct {
	Package     string
	Channel     string
	StartingCSV string
	Catalog     catalog.Ref // empty: the only catalog in view that has the package
}

// ParseRequest reads PACKAGE[:CHANNEL][@STARTING_CSV][%CATALOG].
func ParseRequest(text string) (Request, error) {
	w := Request{}
	rest, named, withCatalog := strings.Cut(text, "%")
	rest, starting, withStart := strings.Cut(rest, "@")
	pkg, channel, withChannel := strings.Cut(rest, ":")
	w.Package, w.Channel, w.StartingCSV = pkg, channel, starting
	err := Check("package", pkg)
	if withChannel {
		err = cmp.Or(err, Check("channel", channel))
	}
	if withStart {
		err = cmp.Or(err, Check("ClusterServiceVersion", starting))
	}
	if withCatalog && err == nil {
		w.Catalog, err = parseRef(named)
	}
	if err != nil {
		return Request{}, fmt.Errorf("--subscribe %q: %w; write PACKAGE[:CHANNEL][@STARTING_CSV][%%CATALOG]", text, err)
	}
	return w, nil
}

// parseRef reads [NAMESPACE/]NAME of a catalog.
func parseRef(text string) (catalog.Ref, error) {
	namespace, name, found := strings.Cut(text, "/")
	if !found {
		return catalog.Ref{Name: text}, Check("catalog", text)
	}
	return catalog.Ref{Namespace: namespace, Name: name}, cmp.Or(Check("namespace", namespace), Check("catalog", name))
}

// Check refuses what nothing of a kind can be called: "namespace", "catalog" and "ClusterServiceVersion" by the rules of Kubernetes for these; any
// other, such as "package", "channel", "version" and "operator", as an entry of a catalog, where more is allowed than Kubernetes allows for its objects.
func Check(what, name string) error {
	if name == "" {
		return errors.New("the " + what + " is missing")
	}
	var broken []string
	switch what {
	case "namespace":
		broken = validation.IsDNS1123Label(name)
	case "catalog", v1alpha1.ClusterServiceVersionKind:
		broken = validation.IsDNS1123Subdomain(name)
	default:
		if len(validation.IsConfigMapKey(strings.ReplaceAll(name, "+", "-"))) > 0 { // build metadata of a version begins with a plus
			broken = []string{"it must consist of at most 253 letters, digits, '-', '_', '.' or '+'"}
		}
	}
	if len(broken) > 0 {
		rule, _, _ := strings.Cut(broken[0], " (e.g. ") // which continues with a regular expression
		return fmt.Errorf("%q is not a valid %s name: %s", name, what, rule)
	}
	return nil
}
