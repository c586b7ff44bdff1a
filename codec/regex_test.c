/* regex_test.c - tests that patterns match, replace and fail as in RE2. */
#include "codec/regex_program.h"
#include "tests/check.h"
#include <stdio.h>

static bool full(const char *pattern, const char *s) {
  regex *r;
  bool matches = false;
  EXPECT_OK(weft__regex_create(&r, pattern, strlen(pattern)));
  EXPECT_OK(weft__regex_full(r, s, strlen(s), &matches));
  weft__regex_destroy(r);
  return matches;
}

static void expect_replaced(const char *pattern, const char *s, const char *rewrite, bool all, const char *want) {
  regex *r;
  text out = {0};
  EXPECT_OK(weft__regex_create(&r, pattern, strlen(pattern)));
  EXPECT_OK(weft__regex_replace(r, s, strlen(s), rewrite, strlen(rewrite), all, &out));
  EXPECT_EQ_STR(weft__text_get(&out), want);
  weft__text_finish(&out);
  weft__regex_destroy(r);
}

static void expect_refused(const char *pattern, const char *why) {
  regex *r;
  EXPECT_ERR(weft__regex_create(&r, pattern, strlen(pattern)), WEFT_INVALID_ARGUMENT, why);
}

TEST(a_full_match_takes_all_of_the_text) {
  EXPECT(full("^s3://.*", "s3://bucket/key"));
  EXPECT(!full("^s3://.*", "/tmp/s3://bucket"));
  EXPECT(full("a|ab", "ab"));
  EXPECT(!full("a|ab", "abc"));
  EXPECT(full("", ""));
  EXPECT(!full("", "x"));
  EXPECT(full("(a*)*", "aaaa"));
  EXPECT(full("a{2,3}b{2}c{1,}", "aaabbcc"));
  EXPECT(!full("a{2,3}", "aaaa"));
  EXPECT(full("a{,2}", "a{,2}"));
}

TEST(classes_and_escapes_mean_what_they_do_in_re2) {
  EXPECT(full("[a-c\\d_-]+", "ab3_-c"));
  EXPECT(full("[^a-c]+", "xyz"));
  EXPECT(!full("[^a-c]+", "xyza"));
  EXPECT(full("[]a]+", "]a"));
  EXPECT(full("[[:alpha:]][[:^digit:]]\\S\\W", "aX!-"));
  EXPECT(full("\\x41\\x{1F600}\\101\\.", "A\xF0\x9F\x98\x80"
                                         "A."));
  EXPECT(full("\\Qa.b\\E.", "a.bc"));
  EXPECT(full("h.llo", "h\xC3\xA9llo"));
  EXPECT(!full("h.llo", "h\xC3llo"));
  EXPECT(!full("a.b", "a\nb"));
  EXPECT(full("(?s)a.b", "a\nb"));
  EXPECT(full("(?i)HeLLo", "hEllO"));
  EXPECT(full("(?i:a)b", "Ab"));
  EXPECT(!full("(?i:a)b", "AB"));
  EXPECT(full("\\bab\\b \\Ab?|ab cd", "ab cd"));
}

TEST(matches_are_replaced_leftmost_first) {
  expect_replaced("b", "abcabc", "<\\0>", true, "a<b>ca<b>c");
  expect_replaced("b", "abcabc", "<\\1>", true, "abcabc");
  expect_replaced("(b)(c)?", "abcabc", "<\\2\\1\\\\>", false, "a<cb\\>abc");
  expect_replaced("x*", "abc", "-", true, "-a-b-c-");
  expect_replaced("b*", "abc", "-", true, "-a-c-");
  expect_replaced("b", "abc", "\\x", true, "ac");
  expect_replaced("b", "abc", "\\x", false, "abc");
  expect_replaced("a+?", "aaa", "x", false, "xaa");
  expect_replaced("(?U)a+", "aaa", "x", false, "xaa");
  expect_replaced("(a|ab)(c|bcd)", "abcd", "[\\1,\\2]", true, "[a,bcd]");
  expect_replaced("(?m)^(\\w+)$", "ab\ncd", "<\\1>", true, "<ab>\n<cd>");
  expect_replaced("(?P<year>\\d{4})-(\\d\\d)", "on 2016-07", "\\2/\\1", true, "on 07/2016");
}

TEST(bad_patterns_are_refused_with_the_words_of_re2) {
  expect_refused("a(", "Invalid pattern: a(, error: missing ): a(");
  expect_refused("a)", "unexpected ): a)");
  expect_refused("a**", "bad repetition operator: **");
  expect_refused("*a", "no argument for repetition operator: *");
  expect_refused("[a", "missing ]: [a");
  expect_refused("[z-a]", "invalid character class range: z-a");
  expect_refused("a\\", "trailing \\");
  expect_refused("\\1", "invalid escape sequence: \\1");
  expect_refused("a{1001}", "invalid repetition size: {1001}");
  expect_refused("(?=b)", "invalid perl operator: (?=");
  expect_refused("(?<a>b)", "invalid perl operator: (?<");
  expect_refused("((a{1000}){1000}){1000}", "too large");
}

TEST(no_pattern_takes_more_than_linear_time_or_a_deep_stack) {
  static char many[40001];
  memset(many, 'a', sizeof many - 1);
  EXPECT(full("(a|a)*(a|aa)*(a*)*", many));
  EXPECT(full(many, many));
  for (int i = 0; i < 600; i++) memcpy(many + 3 * i, "(?:", 3);
  many[1800] = 0;
  expect_refused(many, "nesting too deep");
}

/* The text that the rewrite makes of s; the caller finishes it. */
static text rewritten(const char *pattern, const char *s, const char *rewrite, bool all, bool threads_only) {
  regex *r;
  text out = {0};
  EXPECT_OK(weft__regex_create(&r, pattern, strlen(pattern)));
  atomic_store(&r->no_dfa, threads_only);
  EXPECT_OK(weft__regex_replace(r, s, strlen(s), rewrite, strlen(rewrite), all, &out));
  bool whole = false;
  EXPECT_OK(weft__regex_full(r, s, strlen(s), &whole));
  weft__text_puts(&out, whole ? " whole" : " part");
  weft__regex_destroy(r);
  return out;
}

static unsigned draw(unsigned *seed, unsigned n) {
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 10) % n;
}

TEST(the_automaton_of_states_finds_what_the_threads_find) {
  static const char *const part[] = {"a",    "b",       ".",      "[^a]",   "\\b",          "\\B", "^",
                                     "$",    "(?m:^)",  "(?m:$)", "(a|ab)", "(b)",          "x*",  "(?:a*)",
                                     "\\w+", "\\d",     "|",      "(a+?)",  "[b-\xC3\xBC]", "\n",  "b{2}",
                                     "(|a)", "a{1,3}?", "\\z"};
  static const char *const rune[] = {"a", "b", "a", "b", "x", "1", " ", "\n", "\xC3\xA9", "\xC3", "\xE2\x82\xAC", "_"};
  unsigned seed = 7;
  for (int i = 0; i < 4000; i++) {
    char pattern[128] = "", s[128] = "";
    for (unsigned n = 1 + draw(&seed, 5); n > 0; n--) strcat(pattern, part[draw(&seed, sizeof part / sizeof *part)]);
    for (unsigned n = draw(&seed, 12); n > 0; n--) strcat(s, rune[draw(&seed, sizeof rune / sizeof *rune)]);
    const char *rewrite =
        i % 2 && (strstr(pattern, "(a") || strstr(pattern, "(b") || strstr(pattern, "(|")) ? "<\\0,\\1>" : "<\\0>";
    for (int all = 0; all < 2; all++) {
      text fast = rewritten(pattern, s, rewrite, all, false), slow = rewritten(pattern, s, rewrite, all, true);
      EXPECT_EQ_STR(weft__text_get(&fast), weft__text_get(&slow));
      if (strcmp(weft__text_get(&fast), weft__text_get(&slow)) != 0) printf("pattern '%s', text '%s'\n", pattern, s);
      weft__text_finish(&fast);
      weft__text_finish(&slow);
    }
  }
}

TEST(texts_and_patterns_that_need_many_states_match_too) {
  static char many[20001];
  memset(many, 'a', sizeof many - 1);
  text out = rewritten("a*b", many, "-", true, false); /* each beginning fails at the end of the text */
  EXPECT_EQ_INT(out.size, sizeof many - 1 + strlen(" part"));
  weft__text_finish(&out);
  for (size_t i = 0; i < sizeof many - 1; i++) many[i] = "ab"[(i * 2654435761u >> 13) & 1];
  text fast = rewritten("(a|b)*a(a|b){9}$", many, "<\\0>", true, false); /* up to 1024 states */
  text slow = rewritten("(a|b)*a(a|b){9}$", many, "<\\0>", true, true);
  EXPECT_EQ_STR(weft__text_get(&fast), weft__text_get(&slow));
  weft__text_finish(&fast);
  weft__text_finish(&slow);
}
