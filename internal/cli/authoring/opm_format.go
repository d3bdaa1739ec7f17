package authoring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
)

// formatFlag is the format of a catalog that is written.
type formatFlag string

func (f *formatFlag) add(flags *pflag.FlagSet) {
	flags.StringVarP((*string)(f), "output", "o", string(catalog.JSON), "format of what is written: json or yaml")
}

// format is the format that is meant.
func (f formatFlag) format() (catalog.Format, error) {
	switch format := catalog.Format(f); format {
	case catalog.JSON, catalog.YAML:
		return format, nil
	}
	return "", command.UsageError{Err: fmt.Errorf("invalid --output value %q, expected (json|yaml)", string(f))}
}

// migrationFlag is the level that a catalog is brought up to.
type migrationFlag string

func (f *migrationFlag) add(flags *pflag.FlagSet) {
	flags.StringVar((*string)(f), "migrate-level", "", "bring the catalog up to a level: "+migrationLevels())
}

// level is the level that is meant; the lowest when none is named. One that does not exist is refused before anything is read.
func (f migrationFlag) level() (catalog.MigrationLevel, error) {
	if f == "" {
		return catalog.MigrateNone, nil
	}
	level := catalog.MigrationLevel(f)
	if !slices.Contains(catalog.MigrationLevels(), level) {
		return "", command.UsageError{Err: fmt.Errorf("unknown migration level %q; choose one of %s", string(f), migrationLevels())}
	}
	return level, nil
}

// migrationLevels names the levels.
func migrationLevels() string {
	var names []string
	for _, level := range catalog.MigrationLevels() {
		names = append(names, string(level))
	}
	return strings.Join(names, ", ")
}
