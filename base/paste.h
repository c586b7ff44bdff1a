/* paste.h - joins two names after macro expansion, for code that is included once for each type.
 *
 * Such code (a file with the ending .inc) is written for a type T.  The file that includes it defines T and a stem
 * for the names of its functions.  So a debugger can step through it, and a profile shows which type ran. */
#ifndef WEFT_BASE_PASTE_H
#define WEFT_BASE_PASTE_H

#define WEFT_PASTE_NOW(a, b) a##b
#define WEFT_PASTE(a, b) WEFT_PASTE_NOW(a, b)

#endif
