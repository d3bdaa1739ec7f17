package preview

import (
	"fmt"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/internal/catalogset"
)

// Catalog is a catalog as a user says it in short.
type Catalog struct {
	Ref      catalogset.Ref // without namespace: that of the CatalogSource or Subscription that has the name, or the one decided on
	Priority int
	Source   string // a directory, or the reference of an image
}

// ParseCatalog reads NAME[,priority=N]=DIR|IMAGE.
func ParseCatalog(text string) (Catalog, error) {
	wrong := func(why string) (Catalog, error) {
		return Catalog{}, fmt.Errorf("catalog %q: %s; write NAME=DIR, NAME=IMAGE or NAME,priority=N=DIR", text, why)
	}
	name, source, ok := strings.Cut(text, "=")
	if !ok {
		return wrong("it has no =")
	}
	c := Catalog{}
	if before, option, found := strings.Cut(name, ","); found {
		if option != "priority" {
			return wrong(fmt.Sprintf("option %q is not known", option))
		}
		number, after, _ := strings.Cut(source, "=")
		priority, err := strconv.Atoi(number)
		if err != nil {
			return wrong(fmt.Sprintf("priority %q is not a number", number))
		}
		c.Priority, name, source = priority, before, after
	}
	if c.Ref, ok = parseRef(name); !ok || source == "" {
		return wrong("its name or its source is missing")
	}
	c.Source = source
	return c, nil
}

// Installed is an operator that is said to be installed. With a channel, a Subscription follows that channel.
type Installed struct {
	Name    string // of the ClusterServiceVersion, as the catalog has it
	Catalog catalogset.Ref
	Channel string
}

// ParseInstalled reads NAME[@CATALOG/CHANNEL].
func ParseInstalled(text string) (Installed, error) {
	name, place, found := strings.Cut(text, "@")
	i := Installed{Name: name}
	ok := name != ""
	if found && ok {
		slash := strings.LastIndex(place, "/")
		if ok = slash > 0 && slash+1 < len(place); ok {
			i.Channel = place[slash+1:]
			i.Catalog, ok = parseRef(place[:slash])
		}
	}
	if !ok {
		return Installed{}, fmt.Errorf("installed operator %q: write NAME or NAME@CATALOG/CHANNEL, with the name of its ClusterServiceVersion", text)
	}
	return i, nil
}

// Wish is a Subscription as a user says it in short.
type Wish struct {
	Package     string
	Channel     string
	StartingCSV string
	Catalog     catalogset.Ref // empty: the only catalog in view that has the package
}

// ParseWish reads PACKAGE[:CHANNEL][@STARTING_CSV][%CATALOG].
func ParseWish(text string) (Wish, error) {
	w := Wish{}
	rest, named, withCatalog := strings.Cut(text, "%")
	rest, starting, withStart := strings.Cut(rest, "@")
	pkg, channel, withChannel := strings.Cut(rest, ":")
	w.Package, w.Channel, w.StartingCSV = pkg, channel, starting
	ok := pkg != "" && withChannel == (channel != "") && withStart == (starting != "")
	if withCatalog && ok {
		w.Catalog, ok = parseRef(named)
	}
	if !ok {
		return Wish{}, fmt.Errorf("subscription %q: write PACKAGE[:CHANNEL][@STARTING_CSV][%%CATALOG]", text)
	}
	return w, nil
}

// parseRef reads [NAMESPACE/]NAME.
func parseRef(text string) (catalogset.Ref, bool) {
	namespace, name, found := strings.Cut(text, "/")
	if !found {
		return catalogset.Ref{Name: text}, text != ""
	}
	return catalogset.Ref{Namespace: namespace, Name: name}, namespace != "" && name != "" && !strings.Contains(name, "/")
}
