package config

import (
	"maps"
	"slices"
)

// Entry is one setting as DescribeConfigs answers it.
type Entry struct {
	Name      string
	Value     *string // nil: none, or a secret
	Source    Source
	Sensitive bool
	ReadOnly  bool
	Type      Type
	Doc       string
	Synonyms  []Synonym
}

// Synonym is one place where a setting's value could come from, the one in
// force first.
type Synonym struct {
	Name   string
	Value  *string // nil for a secret
	Source Source
}

// DescribeTopic lists all settings of a topic whose own settings are own,
// sorted by name.
func (s *Static) DescribeTopic(d Dynamic, own map[string]string) []Entry {
	layers := s.sources(d)
	v := topicView{own, s.view(d)}
	out := make([]Entry, 0, len(topicNames))
	for _, name := range namesWith(topicNames, own) {
		decl := topicByName[name]
		e := Entry{Name: name, Source: DefaultConfig}
		if decl == nil { // stored by another program
			e.Sensitive = true
		} else {
			e.Type, e.Doc, e.Sensitive = decl.Type, decl.Doc, decl.Sensitive()
			e.Value = shown(v.get(name), e.Sensitive)
		}
		if _, ok := own[name]; ok {
			e.Synonyms = append(e.Synonyms, Synonym{name, e.Value, DynamicTopic})
		}
		if b, ok := topicSynonym[name]; ok {
			e.Synonyms = append(e.Synonyms, synonyms(b, layers, e.Sensitive)...)
		}
		out = append(out, e.sourced())
	}
	return out
}

// DescribeBroker lists all settings of this broker, sorted by name.
func (s *Static) DescribeBroker(d Dynamic) []Entry {
	layers, v := s.sources(d), s.view(d)
	var listed []string
	for _, n := range brokerNames {
		if brokerByName[n].Listed() {
			listed = append(listed, n)
		}
	}
	names := namesWith(listed, v.layers...)
	out := make([]Entry, 0, len(names))
	for _, name := range names {
		e := brokerEntry(name)
		if !e.Sensitive {
			if brokerByName[name] != nil {
				e.Value = shown(v.get(name), false)
			} else if t, ok := v.text(name); ok {
				e.Value = &t
			}
		}
		e.Synonyms = synonyms(name, layers, e.Sensitive)
		out = append(out, e.sourced())
	}
	return out
}

// DescribeDefaultBroker lists what is set at run time for all brokers, sorted
// by name.
func (s *Static) DescribeDefaultBroker(d Dynamic) []Entry {
	set := usable(d.Default, false)
	out := make([]Entry, 0, len(set))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		e := brokerEntry(name)
		if !e.Sensitive {
			t := set[name]
			e.Value = &t
		}
		e.Synonyms = synonyms(name, []source{{set, DynamicDefaultBroker}}, e.Sensitive)
		out = append(out, e.sourced())
	}
	return out
}

// brokerEntry is what is known about a broker setting beside its value. An
// unknown one may be a secret.
func brokerEntry(name string) Entry {
	e := Entry{Name: name, Sensitive: true, ReadOnly: true, Source: DefaultConfig}
	if decl := resolve(name); decl != nil {
		e.Type, e.Doc, e.Sensitive = decl.Type, decl.Doc, decl.Sensitive()
	}
	if decl := brokerByName[name]; decl != nil {
		e.ReadOnly = decl.Update == ReadOnly
	}
	return e
}

// sourced takes the source of the first synonym.
func (e Entry) sourced() Entry {
	if len(e.Synonyms) > 0 {
		e.Source = e.Synonyms[0].Source
	}
	return e
}

func shown(v value, sensitive bool) *string {
	if !v.set || sensitive {
		return nil
	}
	return &v.text
}

// source is one layer of values and its number.
type source struct {
	values map[string]string
	number Source
}

// sources are the layers of the broker's settings, the strongest first.
func (s *Static) sources(d Dynamic) []source {
	return []source{
		{usable(d.Broker, true), DynamicBroker},
		{usable(d.Default, false), DynamicDefaultBroker},
		{s.given, StaticBroker},
		{defaults, DefaultConfig},
	}
}

// defaults are the defaults of all broker settings that have one.
var defaults = func() map[string]string {
	m := make(map[string]string, len(brokerTable))
	for i := range brokerTable {
		if s := &brokerTable[i]; s.HasDefault() {
			m[s.Name] = s.Default
		}
	}
	return m
}()

// synonyms lists where the value of a broker setting could come from. What
// stands before the first entry of the setting's own name is left out: for a
// base setting that is what holds for one listener only.
func synonyms(name string, layers []source, sensitive bool) []Synonym {
	var out []Synonym
	names := brokerSynonyms(name)
	for _, l := range layers {
		for _, n := range names {
			t, ok := l.values[n]
			if !ok {
				continue
			}
			syn := Synonym{Name: n, Source: l.number}
			if !sensitive {
				syn.Value = &t
			}
			out = append(out, syn)
		}
	}
	for i := range out {
		if out[i].Name == name {
			return out[i:]
		}
	}
	return nil
}

// namesWith merges the keys of maps into sorted names.
func namesWith(names []string, more ...map[string]string) []string {
	out := slices.Clone(names)
	for _, m := range more {
		for k := range m {
			if _, found := slices.BinarySearch(names, k); !found {
				out = append(out, k)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
