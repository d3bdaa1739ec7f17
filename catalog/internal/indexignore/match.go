package indexignore

import "slices"

// matches tells whether the pattern selects the file or a directory that the
// file is in.
func (p *pattern) matches(file []string) bool {
	if len(file) <= len(p.domain) || !slices.Equal(file[:len(p.domain)], p.domain) {
		return false
	}
	file = file[len(p.domain):]
	if p.dirOnly {
		file = file[:len(file)-1]
	}
	return matchPrefix(p.segments, file)
}

// matchPrefix tells whether the segments match the first one or more of the
// parts. It walks along the parts with the set of segments that are due next,
// so that several "**" cannot make it slow.
func matchPrefix(segments []segment, parts []string) bool {
	due := make([]bool, len(segments)+1)
	due[0] = true
	passOver(segments, due)
	for _, part := range parts {
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
		passOver(segments, next)
		due = next
	}
	return false
}

// passOver makes due what follows a "**", which may match no part at all, but
// not the end: "a/**" is what is in a, not a itself.
func passOver(segments []segment, due []bool) {
	for i, segment := range segments[:len(segments)-1] {
		if due[i] && segment.anyNames {
			due[i+1] = true
		}
	}
}
