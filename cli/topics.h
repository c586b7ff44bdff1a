/* topics.h - the topics of `weft help TOPIC`. */
#ifndef WEFT_CLI_TOPICS_H
#define WEFT_CLI_TOPICS_H

typedef struct cli_topic {
  const char *name, *summary, *text;
} cli_topic;

extern const cli_topic cli_topics[]; /* ended by a row of NULLs */

#endif
