// Package docs embeds the pages of the documentation, so that the console shows those of its own version, also where there is no network.
package docs

import "embed"

// Pages are the Markdown files of this directory.
//
//go:embed *.md
var Pages embed.FS
