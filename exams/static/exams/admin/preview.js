/** The paper as a student gets it, drawn by the very code of the exam page; what is answered here goes nowhere. */

import { QuestionForm } from "../sitting/question-form.js";

const paper = JSON.parse(document.getElementById("paper").textContent);
const form = new QuestionForm(document.querySelector("[data-preview]"), { onChange: () => {} });
form.render(paper);
