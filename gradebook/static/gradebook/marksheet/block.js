/**
 * A block of cells as spreadsheets put it on the clipboard, and where it would lie in the sheet. Pure.
 *
 * The form is that of Excel, LibreOffice and Google Sheets: tabs between cells, a line end after each row (any of the three), quotes
 * around a cell that holds one of these, doubled inside. A quote that is never closed is a letter like any other.
 */

const CELL = /"([^"]*(?:""[^"]*)*)"(?=[\t\r\n]|$)|([^\t\r\n]*)/y;
const SHOWN = 3;

/** Return the rows of a copied text, each an array of texts; the line end after the last row makes no row. */
export function readBlock(text) {
  const rows = [[]];
  let at = 0;
  for (;;) {
    CELL.lastIndex = at;
    const [all, quoted, plain] = CELL.exec(text);
    rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
    at += all.length;
    const end = text.startsWith("\r\n", at) ? at + 2 : at + 1;
    if (text[at] !== "\t") {
      if (end >= text.length) return rows;
      rows.push([]);
    }
    at = end;
  }
}

/** Whether a copied text is more than one cell. */
export function isBlock(text) {
  const rows = readBlock(text);
  return rows.length > 1 || rows[0].length > 1;
}

/**
 * Return {cells: [{cell, text}]} for a block laid from a cell on, right and down; or {problem} where a value would fall over the edge.
 * Blank rows and columns over the edge hold nothing that could be lost, and are left away.
 */
export function layBlock(rows, start, sheet) {
  const room = { rows: sheet.rows.length - start.row, columns: sheet.heads.length - start.column };
  const over = rows.flatMap((texts, row) => texts.filter((text, column) => !isBlank(text) && (row >= room.rows || column >= room.columns)));
  if (over.length > 0) return { problem: describe(rows, room, start, over) };
  const fitting = rows.slice(0, room.rows).map((texts) => texts.slice(0, room.columns));
  const lay = (text, row, column) => ({ cell: sheet.at(start.row + row, start.column + column), text });
  return { cells: fitting.flatMap((texts, row) => texts.map((text, column) => lay(text, row, column))) };
}

export function isBlank(text) {
  return text.trim() === "";
}

/** Quote the first few of some things. */
export function listSome(things) {
  const rest = things.length - SHOWN;
  return [...things.slice(0, SHOWN), ...(rest > 0 ? [`${rest} more`] : [])].join("; ");
}

function describe(rows, room, start, over) {
  const width = Math.max(...rows.map((texts) => texts.length));
  const { student, head } = start;
  const tall = `${count(rows.length, "row")} copied, and ${room.rows} from ${student.name} down`;
  const wide = `${count(width, "column")} copied, and ${room.columns} from ${head.title} on`;
  const why = [...(rows.length > room.rows ? [tall] : []), ...(width > room.columns ? [wide] : [])].join("; ");
  return `Nothing was pasted, because it does not fit here: ${why}. Left over would be ${listSome(over.map((text) => `“${text.trim()}”`))}.`;
}

export function count(number, noun) {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}
