/* paste.h - joins two names after their macros are expanded, for bodies that are included once for each type.
 *
 * Such a body (a file with the ending .inc) is code for a type T.  Whoever includes it defines T and a stem for the names
 * of its functions, so that a debugger can step through it and a profile shows which type ran. */
#ifndef WEFT_BASE_PASTE_H
#define WEFT_BASE_PASTE_H

#define WEFT_PASTE_NOW(a, b) a##b
#define WEFT_PASTE(a, b) WEFT_PASTE_NOW(a, b)

#endif
