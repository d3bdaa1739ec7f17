// Package indexignore decides which files of a catalog an .indexignore file
// leaves out.
//
// The patterns and their precedence are those of .gitignore: a pattern applies
// below the directory of its file, the last one that matches decides, and "!"
// takes files back in. Two things differ, on purpose and as catalogs are
// written. Patterns are held against files only, never against directories by
// themselves: a file can be taken back in even when its directory is left out,
// and a "!" that names a directory takes back in all files in it. And white
// space in front of a pattern means nothing.
//
// The package does no input or output. Start reading at [Rules].
package indexignore

import (
	"slices"
	"strings"
)

// Rules are the patterns of all .indexignore files of a tree. The zero value
// leaves nothing out.
type Rules struct {
	patterns []pattern
}

// pattern is one line.
type pattern struct {
	domain   []string // directory of the file the pattern stands in
	segments []segment
	include  bool // takes files back in
	dirOnly  bool // matches directories, so only files in them
}

// segment matches one name of a path or, if it is "**", any number of them.
type segment struct {
	anyNames bool
	glob     glob
}

// Malformed is a line that is not a pattern and was passed over.
type Malformed struct {
	Line int
	Text string
}

// With returns the rules together with the patterns of the .indexignore file
// in dir, where "." is the root. The files of outer directories come before
// those of inner ones, so that the inner ones take precedence. r itself stays
// as it is.
func (r Rules) With(dir, text string) (Rules, []Malformed) {
	r.patterns = slices.Clip(r.patterns)
	var bad []Malformed
	line := 0
	for raw := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line++
		p, ok := parse(trim(raw))
		if !ok {
			bad = append(bad, Malformed{line, strings.TrimSpace(raw)})
			continue
		}
		if len(p.segments) > 0 {
			p.domain = split(dir)
			r.patterns = append(r.patterns, p)
		}
	}
	return r, bad
}

// Len is the number of patterns.
func (r Rules) Len() int { return len(r.patterns) }

// Ignored reports whether the file at name, a path below the root with slashes,
// is left out.
func (r Rules) Ignored(name string) bool {
	return len(r.patterns) > 0 && r.ignored(split(name))
}

// IgnoredDir reports whether a pattern leaves the directory at name out as a
// whole. Files in it may be taken back in all the same.
func (r Rules) IgnoredDir(name string) bool { return r.ignored(append(split(name), "")) }

func (r Rules) ignored(file []string) bool {
	for i := len(r.patterns) - 1; i >= 0; i-- {
		if p := &r.patterns[i]; p.matches(file) {
			return !p.include
		}
	}
	return false
}

// trim removes the space around a line, but not a space at its end that a
// backslash stands in front of.
func trim(line string) string {
	line = strings.TrimLeft(line, " \t\r\n\v\f")
	trimmed := strings.TrimRight(line, " \t\r\n\v\f")
	backslashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if backslashes%2 == 1 && strings.HasPrefix(line[len(trimmed):], " ") {
		return trimmed + " "
	}
	return trimmed
}

// parse reads a line; a blank one or a comment has no segments.
func parse(text string) (p pattern, ok bool) {
	if text == "" || strings.HasPrefix(text, "#") {
		return pattern{}, true
	}
	text, p.include = strings.CutPrefix(text, "!")
	text, p.dirOnly = strings.CutSuffix(text, "/")
	anchored := strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return pattern{}, false
	}
	if !anchored {
		p.segments = append(p.segments, segment{anyNames: true})
	}
	for name := range strings.SplitSeq(text, "/") {
		s := segment{anyNames: name == "**"}
		if s.glob, ok = parseGlob(name); !ok {
			return pattern{}, false
		}
		p.segments = append(p.segments, s)
	}
	return p, true
}

func split(name string) []string {
	if name == "." || name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

// matches reports whether the pattern selects the file or a directory that the
// file is in.
func (p *pattern) matches(file []string) bool {
	if len(file) <= len(p.domain) || !slices.Equal(file[:len(p.domain)], p.domain) {
		return false
	}
	file = file[len(p.domain):]
	if p.dirOnly {
		file = file[:len(file)-1]
	}
	// Report whether the segments match the first one or more of the parts. It walks along the parts with the set of segments that are
	// due next, so that several "**" cannot make it slow.
	segments := p.segments
	due := make([]bool, len(segments)+1)
	due[0] = true
	for _, part := range file {
		// What follows a "**" is due, too, since that may match no part at all, but not the end: "a/**" is what is in a, not a itself.
		for i, segment := range segments[:len(segments)-1] {
			due[i+1] = due[i+1] || due[i] && segment.anyNames
		}
		next := make([]bool, len(segments)+1)
		for i, segment := range segments {
			if !due[i] {
				continue
			}
			if segment.anyNames {
				next[i] = true
				next[i+1] = next[i+1] || i == len(segments)-1
			} else if segment.glob.match(part) {
				next[i+1] = true
			}
		}
		if next[len(segments)] {
			return true
		}
		due = next
	}
	return false
}
